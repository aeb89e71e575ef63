import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { PublicDocument, PublicDocuments } from '@gateway/server'
import { frame } from './frame.ts'
import { addressOf, readContents, renderMarkdown, sectionsOf, type Contents } from './markdown.ts'

const mount = '/docs/guide/'
/** The page that is the table of contents. */
const home = 'README.md'

/** For browsers. `import.meta.resolve` would look beside a bundle, where it is not. */
const searchLibrary = (): URL =>
  new URL('../es/index.js', pathToFileURL(createRequire(import.meta.url).resolve('minisearch')))

const beside = (path: string): URL => new URL(`../${path}`, import.meta.url)

/** The pages are those of the checkout that it is built in, also while that is packed; else in the package. */
const pagesFolder = (): string =>
  fileURLToPath(existsSync(beside('../../pnpm-workspace.yaml')) ? beside('../../docs/') : beside('pages/'))

/**
 * The pages of a folder of Markdown at `/docs/guide/`, with all files that they show, a search, and nothing from
 * another host. Each is read and rendered when it is asked for the first time. Without the folder there are none.
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

/** What the search knows: each section of a page. Decisions would hide the pages that people look for. */
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
