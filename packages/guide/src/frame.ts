import { posix } from 'node:path'
import { addressOf, type Contents, type Rendered } from './markdown.ts'

/**
 * Returns a complete HTML page: the rendered text with the table of contents, the search and `links` to other
 * documents.
 */
export function frame({ title, html }: Rendered, path: string, contents: Contents, links: string): string {
  const up = '../'.repeat(path.split('/').length - 1)
  const base = up === '' ? './' : up
  const link = (to: string, name: string): string =>
    to === path
      ? `<li><a href="${base}${addressOf(to)}" aria-current="page">${name}</a></li>`
      : `<li><a href="${base}${addressOf(to)}">${name}</a></li>`
  const groups = contents.map(
    ({ heading, pages }) =>
      `<h2>${heading}</h2>\n<ul>${pages.map((page) => link(page.path, page.name)).join('\n')}</ul>`,
  )
  return `<!doctype html>
<html lang="en" data-base="${base}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title.replaceAll('<', '&lt;')} · SMS gateway</title>
<link rel="stylesheet" href="${base}guide.css">
<script type="module" src="${base}guide.js"></script>
</head>
<body>
<header>
<a class="home" href="${base}">SMS gateway</a>
<search><input type="search" placeholder="Search the guide" aria-label="Search the guide" autocomplete="off"><ol hidden></ol></search>
</header>
<div class="page">
<nav aria-label="Guide"><details open><summary>Contents</summary>
${groups.join('\n')}
</details></nav>
<main>
${html}
<footer>${links} · ${posix.basename(path)}</footer>
</main>
</div>
</body>
</html>
`
}
