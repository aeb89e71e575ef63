import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './process.ts'

/** Matches names and paths of generated files and folders. These appear and disappear while tests read the tree. */
const made = /^(node_modules|dist|dist-testing|data|results)$|^packages\/guide\/pages$/

/** Returns the files below a folder whose paths match `name`. All paths are relative to the root of the repository. */
export function filesUnder(folder: string, name: RegExp): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (made.test(entry.name) || made.test(path)) return []
    if (entry.isDirectory()) return filesUnder(path, name)
    return entry.isFile() && name.test(path) ? [path] : []
  })
}
