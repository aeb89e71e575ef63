import { readFile } from 'node:fs/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Programs that tests start as processes, by the name of their bundle. */
const entries = {
  'all-in-one': 'apps/all-in-one',
  rest: 'apps/rest',
  asp: 'apps/asp',
  xml: 'apps/xml',
  portal: 'apps/portal',
  callbacks: 'apps/callbacks',
  smpp: 'apps/smpp',
  dispatcher: 'apps/dispatcher',
  operator: 'apps/operator',
  'smsc-simulator': 'packages/smsc-simulator',
}

/** Defines `require`, with which bundled CommonJS libraries load modules of Node. */
const banner =
  "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);"

/**
 * Replaces `import.meta.url` by the URL of the source module, so that bundled code still finds the files of this
 * repository.
 */
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
 * Bundles the output of `tsc -b` into one file per app plus shared files, for tests that start processes. Loading the
 * 1870 modules of an app takes 1.5 s of CPU time, and loading its bundle takes 0.4 s.
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
