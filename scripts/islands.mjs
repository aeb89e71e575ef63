/**
 * Bundles the islands of the portal: each `apps/portal/islands/<name>.tsx` and its imports become one file for browsers
 * in `apps/portal/dist/islands`. They import the sources of core, so that a page checks input by the rules of the
 * server.
 */
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const portal = fileURLToPath(new URL('../apps/portal/', import.meta.url))

await build({
  entryPoints: readdirSync(`${portal}islands`)
    .filter((name) => name.endsWith('.tsx'))
    .map((name) => `${portal}islands/${name}`),
  outdir: `${portal}dist/islands`,
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  conditions: ['@gateway/source'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  logLevel: 'warning',
})
