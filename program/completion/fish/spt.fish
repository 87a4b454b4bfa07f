# The tab key in fish: the options are those that spt itself shows, so none is listed here.
function __spt_options
    set -l words (commandline -opc)
    spt $words[2] --help 2>/dev/null | string match -ra -- '--[a-z][a-z-]*' | sort -u
end
complete -c spt -n '__fish_is_nth_token 1' -f \
    -a "(spt --help | string replace -rf -- '^  ([a-z]+)  +(.*)' '\$1\t\$2')"
complete -c spt -n 'not __fish_is_nth_token 1; and string match -q -- "-*" (commandline -ct)' -f \
    -a '(__spt_options)'
