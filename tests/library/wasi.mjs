// Runs a WebAssembly program in a folder as a command: node wasi.mjs PROGRAM [ARGUMENT ...].
import { readFile } from "node:fs/promises";
import { WASI } from "node:wasi";

const [program, ...args] = process.argv.slice(2);
const options = { args: [program, ...args], env: {}, preopens: { ".": "." }, returnOnExit: true };
let wasi;
try {
    wasi = new WASI({ version: "preview1", ...options });
} catch {
    wasi = new WASI(options);
}
const module = await WebAssembly.compile(await readFile(program));
const instance = await WebAssembly.instantiate(module, {
    wasi_snapshot_preview1: wasi.wasiImport,
});
process.exitCode = wasi.start(instance);
