// Creates an SVG file for each .dot file of docs/drawings. With --check it only compares, and fails if one is outdated.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { Graphviz } from '@hpcc-js/wasm-graphviz'

const folder = new URL('../docs/drawings/', import.meta.url)
const graphviz = await Graphviz.load()
const isCheck = process.argv.includes('--check')

for (const name of await readdir(folder)) {
  if (!name.endsWith('.dot')) continue
  const svg = graphviz.dot(await readFile(new URL(name, folder), 'utf8'))
  const path = new URL(name.replace(/\.dot$/, '.svg'), folder)
  if (!isCheck) await writeFile(path, svg)
  else if (svg !== (await readFile(path, 'utf8').catch(() => ''))) {
    console.error(`docs/drawings/${name} was changed: run npx pnpm draw`)
    process.exitCode = 1
  }
}
