import { posix } from 'node:path'
import { Marked, type Token, type Tokens } from 'marked'

/** Rendered page. The HTML is not sanitized, because the Markdown comes from this repository. */
export interface Rendered {
  readonly title: string
  readonly html: string
}

/** Heading and the text below it, for the search. */
export interface Section {
  /** Anchor of the heading. Undefined for the beginning of the page. */
  readonly anchor: string | undefined
  readonly page: string
  readonly heading: string
  readonly text: string
}

/**
 * Returns a function that makes anchors in the same way as GitHub, so that links work in both places. The anchor of a
 * repeated heading ends in `-1`, and so on.
 */
const anchors = (): ((heading: string) => string) => {
  const seen = new Map<string, number>()
  return (heading) => {
    const anchor = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-')
    const before = seen.get(anchor) ?? 0
    seen.set(anchor, before + 1)
    return before === 0 ? anchor : `${anchor}-${before}`
  }
}

const plain = (text: string): string => text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*_]/g, '')

const headingText = (token: Tokens.Heading): string => token.text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

const titleOf = (tokens: readonly Token[]): string => {
  const first = tokens.find((token): token is Tokens.Heading => token.type === 'heading')
  return first === undefined ? '' : plain(first.text)
}

/**
 * Renders a page. Links to other pages are rewritten to their addresses in the guide. A link to a file outside the
 * folder becomes plain text, because the guide does not have that file.
 */
export function renderMarkdown(path: string, text: string, files: readonly string[]): Rendered {
  const anchorOf = anchors()
  const has = new Set(files)
  const resolve = (href: string): string | undefined => {
    if (/^[a-z]+:|^#/.test(href)) return href
    const [to = '', anchor] = href.split('#')
    const target = posix.normalize(posix.join(posix.dirname(path), to))
    if (!has.has(target)) return undefined
    const from = posix.dirname(`/${addressOf(path)}_`)
    const address = posix.relative(from, `/${addressOf(target)}_`).replace(/_$/, '')
    return (address === '' ? './' : address) + (anchor === undefined ? '' : `#${anchor}`)
  }
  const marked = new Marked({
    renderer: {
      heading(token) {
        const anchor = anchorOf(headingText(token))
        const inner = this.parser.parseInline(token.tokens)
        return `<h${token.depth} id="${anchor}">${inner} <a class="anchor" href="#${anchor}" aria-label="Link to this section">#</a></h${token.depth}>\n`
      },
      link({ href, tokens }) {
        const inner = this.parser.parseInline(tokens)
        const to = resolve(href)
        return to === undefined ? inner : `<a href="${escaped(to)}">${inner}</a>`
      },
      image({ href, text: alt }) {
        return `<img src="${escaped(resolve(href) ?? href)}" alt="${escaped(alt)}">`
      },
    },
  })
  const tokens = marked.lexer(text)
  // Tables are wrapped, so that a wide table scrolls instead of the whole page.
  const html = marked
    .parser(tokens)
    .replaceAll('<table>', '<div class="wide"><table>')
    .replaceAll('</table>', '</table></div>')
  return { title: titleOf(tokens), html }
}

/** Returns the sections of a page for the search. */
export function sectionsOf(text: string): readonly Section[] {
  const anchorOf = anchors()
  const tokens = new Marked().lexer(text)
  const page = titleOf(tokens)
  const sections: { anchor: string | undefined; page: string; heading: string; text: string }[] = []
  for (const token of tokens) {
    if (token.type === 'heading') {
      const anchor = anchorOf(headingText(token as Tokens.Heading))
      sections.push({
        anchor: sections.length === 0 ? undefined : anchor,
        page,
        heading: plain((token as Tokens.Heading).text),
        text: '',
      })
    } else {
      const section = sections.at(-1)
      if (section !== undefined) section.text += ` ${plain(token.raw).replace(/[\s|]+|-{3,}/g, ' ')}`
    }
  }
  return sections
}

/** Returns the address of a file below `/docs/guide/`. */
export const addressOf = (path: string): string => path.replace(/(^|\/)README\.md$/, '$1').replace(/\.md$/, '')

/** Table of contents: the lists of links of the home page, each with its heading. */
export type Contents = readonly {
  readonly heading: string
  readonly pages: readonly { readonly path: string; readonly name: string }[]
}[]

/** Reads the table of contents from the home page. */
export function readContents(text: string): Contents {
  return text
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      heading: section.slice(0, section.indexOf('\n')),
      pages: Array.from(section.matchAll(/^- \[([^\]]+)\]\(([^)#]+\.md)\)/gm), ([, name = '', path = '']) => ({
        path,
        name,
      })),
    }))
    .filter(({ pages }) => pages.length > 0)
}
