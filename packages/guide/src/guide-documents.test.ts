import { posix } from 'node:path'
import MiniSearch from 'minisearch'
import { guideDocuments } from './guide-documents.ts'

const documents = guideDocuments()
const mount = '/docs/guide/'
const textOf = (path: string): string => String(documents.get(path)?.read('<a href="../">REST interface</a>'))
const pages = [...documents].filter(([, { type }]) => type === 'html').map(([path]) => ({ path, html: textOf(path) }))
const htmlOf = new Map(pages.map(({ path, html }) => [path, html]))

const attributes = (html: string, name: string): readonly string[] =>
  Array.from(html.matchAll(new RegExp(` ${name}="([^"]*)"`, 'g')), ([, value = '']) => value)

/** Returns the target of a link as a browser resolves it. */
const target = (page: string, href: string): URL => new URL(href, `http://here${page}`)

test('each link of a page leads to an existing page, file or heading of the guide', () => {
  expect(pages.length).toBeGreaterThan(100)
  const dead = pages.flatMap(({ path, html }) =>
    [...attributes(html, 'href'), ...attributes(html, 'src')]
      .filter((href) => href !== '../' && target(path, href).host === 'here')
      .filter((href) => {
        const { pathname, hash } = target(path, href)
        const isThere = documents.has(pathname)
        return (
          !isThere || (hash !== '' && !htmlOf.get(pathname)?.includes(` id="${decodeURIComponent(hash.slice(1))}"`))
        )
      })
      .map((href) => `${path}: ${href}`),
  )
  expect(dead).toEqual([])
})

test('a page loads styles and scripts from its own host and has none inline', () => {
  for (const { html } of pages) {
    expect(html.replace(/<a [^>]*>/g, '')).not.toMatch(/(src|href)="(https?:)?\/\//)
    expect(html).not.toMatch(/<style|<script(?! type="module" src=)| on\w+="| style="/)
  }
})

test('the table of contents lists every page except decision records', () => {
  const home = textOf(mount)
  const named = new Set(attributes(home, 'href').map((href) => target(mount, href).pathname))
  const missing = pages.map(({ path }) => path).filter((path) => !path.includes('/decisions/') && !named.has(path))
  expect(missing).toEqual([])
})

test.each([
  ['disk full', 'operations/troubleshoot#the-database-is-full'],
  ['idempotency', 'interfaces/rest#'],
  ['not arrive', 'operations/troubleshoot#a-customer-says-that-it-did-not-arrive'],
])('the search finds %s', (words, id) => {
  const search = new MiniSearch({ fields: ['heading', 'page', 'text'] })
  search.addAll(JSON.parse(textOf(`${mount}search.json`)) as readonly object[])
  const found = search.search(words, { boost: { heading: 6, page: 3 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' })
  const ids = found.slice(0, 5).map(({ id: each }) => String(each))
  expect([ids, ids.some((each) => each.startsWith(id))]).toEqual([ids, true])
})

test('every file that the search and the pages load exists', () => {
  for (const name of ['guide.css', 'guide.js', 'minisearch.js'])
    expect(textOf(mount + name).length).toBeGreaterThan(500)
  expect(posix.extname([...documents.keys()].find((path) => path.endsWith('overview.svg')) ?? '')).toBe('.svg')
})

test('without the folder the guide is empty', () => {
  expect(guideDocuments('/nowhere/').size).toBe(0)
})
