import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { PublicDocument, PublicDocuments } from '@gateway/server'
import { frame } from './frame.ts'
import { addressOf, readContents, renderMarkdown, sectionsOf, type Contents } from './markdown.ts'

const mount = '/docs/guide/'
/** Page whose lists of links are the table of contents. */
const home = 'README.md'

/**
 * Returns the browser build of minisearch. `import.meta.resolve` is not used, because in a bundle it would search next
 * to the bundle and find nothing.
 */
const searchLibrary = (): URL =>
  new URL('../es/index.js', pathToFileURL(createRequire(import.meta.url).resolve('minisearch')))

const beside = (path: string): URL => new URL(`../${path}`, import.meta.url)

/**
 * Returns the folder of the pages: `docs` in a checkout (also while the package is being packed), `pages` in the
 * installed package.
 */
const pagesFolder = (): string =>
  fileURLToPath(existsSync(beside('../../pnpm-workspace.yaml')) ? beside('../../docs/') : beside('pages/'))

/**
 * Returns the Markdown pages of a folder as documents below `/docs/guide/`, with their pictures and a search. Nothing
 * is loaded from another host. A page is read and rendered at its first request. Returns an empty map without the
 * folder.
 */
export function guideDocuments(folder = pagesFolder()): PublicDocuments {
  if (!existsSync(folder + home)) return new Map()
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`.replaceAll('\\', '/').slice(folder.length).replace(/^\//, ''))
    .sort()
  const read = (path: string): string => readFileSync(folder + path, 'utf8')
  let contents: Contents | undefined
  const page = (path: string): PublicDocument => ({
    type: 'html',
    ...(path === home && { title: 'Guide' }),
    read: (links) =>
      frame(renderMarkdown(path, read(path), files), path, (contents ??= readContents(read(home))), links),
  })
  return new Map<string, PublicDocument>([
    ...files.map((path) => [mount + addressOf(path), path.endsWith('.md') ? page(path) : file(folder + path)] as const),
    [`${mount}search.json`, { type: 'json', read: () => JSON.stringify(index(files, read)) }],
    [`${mount}guide.css`, file(fileURLToPath(beside('assets/guide.css')))],
    [`${mount}guide.js`, file(fileURLToPath(beside('assets/guide.js')))],
    [`${mount}minisearch.js`, file(fileURLToPath(searchLibrary()))],
  ])
}

const shownAs: Readonly<Record<string, string>> = { svg: 'svg', webp: 'webp', css: 'css', js: 'js', json: 'json' }

const file = (path: string): PublicDocument => ({
  type: shownAs[path.slice(path.lastIndexOf('.') + 1)] ?? 'text/plain; charset=utf-8',
  read: () => readFileSync(path),
})

/**
 * Returns the search index, with one entry for each section of a page. Decision records are not included, because they
 * would crowd out user pages.
 */
function index(files: readonly string[], read: (path: string) => string) {
  return files
    .filter((path) => path.endsWith('.md') && !path.startsWith('decisions/'))
    .flatMap((path) =>
      sectionsOf(read(path)).map(({ anchor, page, heading, text }) => ({
        id: addressOf(path) + (anchor === undefined ? '' : `#${anchor}`),
        ...{ page, heading, text },
      })),
    )
}
