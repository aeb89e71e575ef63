/** Where a file is, below the guide. */
export const addressOf = (path: string): string => path.replace(/(^|\/)README\.md$/, '$1').replace(/\.md$/, '')

/** The table of contents: the lists of links of its page, each below a heading. */
export type Contents = readonly {
  readonly heading: string
  readonly pages: readonly { readonly path: string; readonly name: string }[]
}[]

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
