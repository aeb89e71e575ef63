import { readFile } from 'node:fs/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))

/** What tests start as processes, by the name of the file it becomes. */
const entries = {
  'all-in-one': 'apps/all-in-one',
  rest: 'apps/rest',
  asp: 'apps/asp',
  xml: 'apps/xml',
  portal: 'apps/portal',
  dispatcher: 'apps/dispatcher',
  operator: 'apps/operator',
  'smsc-simulator': 'packages/smsc-simulator',
}

/** Libraries in CommonJS require modules of Node. */
const banner =
  "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);"

/** Files of ours are read from beside the module that names them, not from beside the bundle. */
const ownUrls = {
  name: 'own-urls',
  setup({ onLoad }) {
    onLoad({ filter: /\/(?:apps|packages)\/[^/]+\/dist\/.*\.js$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      return { contents: text.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)) }
    })
  },
}

/**
 * Writes what `tsc -b` has built as one file an app and what they share into a folder, for tests that start processes:
 * an app loads 1870 modules in 1.5 s of CPU, its bundle in 0.4.
 */
export async function bundleApps(folder) {
  await build({
    entryPoints: Object.entries(entries).map(([out, path]) => ({ in: `${root}${path}/dist/main.js`, out })),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    banner: { js: banner },
    plugins: [ownUrls],
    logLevel: 'warning',
  })
}
