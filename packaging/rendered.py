"""conda-forge's recipe, rendered for each platform as a feedstock would: rendered.py RECIPE

Every field must be one that rattler-build knows. Nothing is built, and no channel is asked.
"""

import sys

PLATFORMS = ("linux-64", "linux-aarch64", "osx-64", "osx-arm64", "win-64")
VARIANTS = {
    "python": ["3.11", "3.12", "3.13", "3.14"],
    "c_compiler": ["gcc"],
    "c_stdlib": ["sysroot"],
}


def main() -> None:
    try:
        from rattler_build import PlatformConfig, RenderConfig, Stage0Recipe, VariantConfig
    except ModuleNotFoundError:
        print("== py-rattler-build: not installed, so conda-forge's recipe was not read")
        return
    recipe = Stage0Recipe.from_file(sys.argv[1])
    for target in PLATFORMS:
        platform = PlatformConfig(target_platform=target, build_platform="linux-64")
        rendered = recipe.render(VariantConfig(VARIANTS), RenderConfig(platform))
        assert len(rendered) == len(VARIANTS["python"]), target
        print(f"== {target}: {len(rendered)} packages would be built")


if __name__ == "__main__":
    main()
