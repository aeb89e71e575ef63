import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { PublicDocument, PublicDocuments } from '@gateway/server'
import { openApiDocument } from './openapi.ts'

const folder = '/docs/'

const page = (links: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>SMS gateway: REST interface</title>
<link rel="stylesheet" href="swagger-ui.css">
</head>
<body>
<nav style="font: 16px/1.5 system-ui, sans-serif; padding: 1rem">${links}</nav>
<div id="operations"></div>
<script src="swagger-ui-bundle.js"></script>
<script src="start.js"></script>
</body>
</html>
`

// With its default `validatorUrl`, Swagger UI would send the document to an external host.
const start = `SwaggerUIBundle({ url: 'openapi.json', dom_id: '#operations', deepLinking: true, validatorUrl: null })
`

/**
 * Document `/docs/openapi.json` and, if the optional package swagger-ui-dist is installed, the page `/docs/` to browse
 * it.
 */
export const documents: PublicDocuments = new Map<string, PublicDocument>([
  [
    `${folder}openapi.json`,
    { type: 'json', title: 'OpenAPI document', read: () => JSON.stringify(openApiDocument(), undefined, 2) },
  ],
  ...browsable(),
])

function browsable(): readonly (readonly [string, PublicDocument])[] {
  const { resolve } = createRequire(import.meta.url)
  const file = (name: string, type: string) => {
    const path = resolve(`swagger-ui-dist/${name}`)
    return [folder + name, { type, read: () => readFileSync(path) }] as const
  }
  try {
    return [
      [folder, { type: 'html', title: 'REST interface', read: page }],
      [`${folder}start.js`, { type: 'js', read: () => start }],
      file('swagger-ui.css', 'css'),
      file('swagger-ui-bundle.js', 'js'),
    ]
  } catch {
    return []
  }
}
