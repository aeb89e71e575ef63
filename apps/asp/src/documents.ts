import type { PublicDocument, PublicDocuments } from '@gateway/server'
import { bodyTooLarge, type Failure, noSuchPath, overLimit, tooManyLogIns, unavailable, wrongMethod } from './answer.ts'
import type { Endpoint, Parameter } from './endpoint.ts'
import { endpoints, prefix } from './routes.ts'

/** Meanings of the names in `<>` that appear in the documented answers of the endpoints. */
export const FORMS = {
  integer: 'whole credits, rounded half up',
  number: 'a number as submitted, or the number of a sender in international format without +',
  id: 'a message id as submitted',
  'message id': 'a whole number, from 1 to 9007199254740991',
  'message id or nothing': 'the message that was answered, if there is one',
  status: 'DELIVERED, SENT or SENDINGFAILED',
  date: 'CCYY/MM/DD at GMT+2',
  time: 'HH:mm:ss at GMT+2',
  code: 'a status code; in a short code message, the short or long code',
  minute: 'CCYYMMDDHHmm at GMT+2',
  text: 'the text, or the reference of the send; & ; = % and control characters are percent-encoded',
  category: 'the category of the send, percent-encoded as a text',
} as const

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
const code = (text: string): string => `<code>${escaped(text)}</code>`

const parameterLine = ({ name, form, needed = false }: Parameter): string =>
  `${code(name)}${needed ? ' (needed)' : ''}: ${escaped(form)}`

const endpointRow = ([path, { summary, takes, answers, wrongCredentials }]: readonly [string, Endpoint]): string =>
  `<tr><td>${code(prefix + path)}<br>${summary}</td><td>${takes.map(parameterLine).join('<br>')}</td>` +
  `<td>${answers.map(code).join('<br>')}</td><td>${code(wrongCredentials)}</td></tr>\n`

const errors: readonly (readonly [failure: Failure, when: string])[] = [
  [noSuchPath, 'no such path'],
  [wrongMethod, 'the method is neither GET nor POST'],
  [bodyTooLarge, 'a form of more than 64 kB'],
  [tooManyLogIns(60), 'too many wrong passwords for one user from one network; nothing was done'],
  [overLimit({ overLimitSeconds: 1 }), 'the account exceeds its limit per second; nothing was done'],
  [unavailable, 'an internal error or overload; if Retry-After is present, nothing was done'],
]

const errorRow = ([{ status, text }, when]: (typeof errors)[number]): string =>
  `<tr><td>${status}</td><td>${code(text)}</td><td>${when}</td></tr>\n`

const page = (links: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>SMS gateway: query-string interface</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 80rem; margin: 3rem auto; padding: 0 1rem }
table { border-collapse: collapse } th, td { text-align: left; padding: .4rem 1.2rem .4rem 0; border-bottom: 1px solid #dde3ea; vertical-align: top }
</style>
</head>
<body>
<nav>${links}</nav>
<h1>Query-string interface</h1>
<p>GET, or POST with a form. Each takes ${code('apikey')}, or ${code('user')} and ${code('password')}. Values are percent-encoded.
Every item of a list ends with ${code('&')}; an empty list is an empty answer.</p>
<table>
<tr><th>Endpoint</th><th>Parameters</th><th>Answer, or item of a list</th><th>Wrong credentials</th></tr>
${[...endpoints].map(endpointRow).join('')}</table>
<h2>Errors of every endpoint</h2>
<table>
<tr><th>HTTP</th><th>Answer</th><th>When</th></tr>
${errors.map(errorRow).join('')}</table>
<h2>Forms</h2>
<table>
${Object.entries(FORMS)
  .map(([name, form]) => `<tr><td>${code(`<${name}>`)}</td><td>${escaped(form)}</td></tr>\n`)
  .join('')}</table>
</body>
</html>
`

/** Document `/docs/query-string`: a table of the endpoints. */
export const documents: PublicDocuments = new Map<string, PublicDocument>([
  ['/docs/query-string', { type: 'html', title: 'Query-string interface', read: page }],
])
