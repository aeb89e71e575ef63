import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './process.ts'

/** Matches names and paths of generated files and folders. These appear and disappear while tests read the tree. */
const made = /^(node_modules|dist|dist-testing|data|results)$|^packages\/guide\/pages$/

/** Returns the files of a folder whose names match, by their paths from its root. */
export function filesUnder(folder: string, name: RegExp): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (made.test(entry.name) || made.test(path)) return []
    if (entry.isDirectory()) return filesUnder(path, name)
    return entry.isFile() && name.test(path) ? [path] : []
  })
}
