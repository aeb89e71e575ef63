import { readFileSync } from 'node:fs'
import type { PublicDocument, PublicDocuments } from '@gateway/server'
import { ERROR } from './answer.ts'

const folder = '/docs/xml/'

/** Names of the schemas of each operation. */
const schemas = {
  'xmlsendsmsmulti.asp': 'send',
  'xmlgetstatus.asp': 'status',
  'xmldeletescheduled.asp': 'delete',
  'xmlgetreplies.asp': 'replies',
  'xmlgetscmessages.asp': 'short-code',
}

const files = Object.values(schemas).flatMap((name) => [`${name}-request.xsd`, `${name}-response.xsd`])

const link = (file: string): string => `<td><a href="${file}">${file}</a></td>`

const rows = Object.entries(schemas).map(
  ([path, name]) =>
    `<tr><td><code>/api/${path}</code></td>${link(`${name}-request.xsd`)}${link(`${name}-response.xsd`)}</tr>\n`,
)

const errorRows = Object.values(ERROR)
  .filter(({ status }) => status !== 200)
  .map(({ status, text }) => `<tr><td>${status}</td><td>${text}</td></tr>\n`)

const page = (links: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>SMS gateway: XML interface</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 3rem auto; padding: 0 1rem }
table { border-collapse: collapse } th, td { text-align: left; padding: .4rem 1.2rem .4rem 0; border-bottom: 1px solid #dde3ea }
</style>
</head>
<body>
<nav>${links}</nav>
<h1>XML interface</h1>
<p>A schema for each request and each answer. The gateway accepts more: another prefix of the root, elements that it does not know, and any order.</p>
<table>
<tr><th>POST to</th><th>Request</th><th>Answer</th></tr>
${rows.join('')}</table>
<h2>Errors of every operation</h2>
<p>An <code>Error</code> in the root of the answer; some have another HTTP status than 200:</p>
<table>
<tr><th>HTTP</th><th>Error</th></tr>
${errorRows.join('')}</table>
</body>
</html>
`

/** Document `/docs/xml/` with the schemas, by which the tests check every response. */
export const documents: PublicDocuments = new Map<string, PublicDocument>([
  [folder, { type: 'html', title: 'XML interface', read: page }],
  ...files.map((name) => {
    const read = () => readFileSync(new URL(`../schemas/${name}`, import.meta.url))
    return [folder + name, { type: 'application/xml; charset=utf-8', read }] as const
  }),
])
