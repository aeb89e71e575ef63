import { Router } from 'express'
import { curlLines } from './curl-lines.ts'

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const page = (gateway: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>SMS gateway</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 3rem auto; padding: 0 1rem; color: #1c2430; background: #fff }
h1 { font-size: 1.6rem; margin-bottom: .2rem } h2 { font-size: 1.1rem; margin-top: 2rem }
table { border-collapse: collapse; width: 100% } th, td { text-align: left; padding: .4rem .8rem .4rem 0; border-bottom: 1px solid #dde3ea; vertical-align: top }
code, pre { font: 14px/1.45 ui-monospace, monospace } pre { background: #f4f6f9; padding: .8rem; overflow-x: auto }
@media (prefers-color-scheme: dark) { body { color: #d9e1ea; background: #12171e } th, td { border-color: #2b3542 } pre { background: #1b222c } }
</style>
</head>
<body>
<h1>The gateway runs.</h1>
<p>Three interfaces over one account model: the same accounts, credits and message ids on each.</p>
<h2>What runs here</h2>
<table>
<tr><th>REST and JSON</th><td><code>/api/rest/v1/…</code></td></tr>
<tr><th>Query string</th><td><code>/api/*.asp</code></td></tr>
<tr><th>XML</th><td><code>/api/xml*.asp</code></td></tr>
<tr><th>Portal</th><td><a href="./">sign in, send and follow messages in a browser</a></td></tr>
<tr><th>Dispatcher</th><td>in this process, to the carriers of <code>CARRIERS</code></td></tr>
<tr><th>Health</th><td><a href="health/live"><code>/health/live</code></a>, <a href="health/ready"><code>/health/ready</code></a></td></tr>
<tr><th>Metrics</th><td><a href="metrics"><code>/metrics</code></a></td></tr>
</table>
<h2>What to read</h2>
<table>
<tr><th>Guide</th><td><a href="docs/guide/">all pages of the documentation, with a search</a></td></tr>
<tr><th>REST and JSON</th><td><a href="docs/">every operation, to be tried out</a>; <a href="docs/openapi.json">OpenAPI 3.1</a></td></tr>
<tr><th>Query string</th><td><a href="docs/query-string">every endpoint with its parameters and answers</a></td></tr>
<tr><th>XML</th><td><a href="docs/xml/">a schema for each request and answer</a></td></tr>
</table>
<h2>What to try next</h2>
<p>In a shell, with the key of the demo account that the first start printed:</p>
<pre>KEY=gw_…
GATEWAY=${gateway}
${escaped(curlLines())}
</pre>
<p>The simulated carrier delivers everything; <a href="docs/guide/operations/simulator">the last two digits of a number choose another outcome</a>. The key is not shown again; issue another one:</p>
<pre>npx pnpm gateway account list
npx pnpm gateway key issue 1 --label mine</pre>
<p>Send from the command line and watch what becomes of it. The simulated carrier, which is there without <code>CARRIERS</code>, sends nothing to any network:</p>
<pre>npx pnpm gateway send --account 1 --to 27825550101 --text 'Hello' --wait</pre>
<p>Have somebody answer (a number that ends in 88 does so by itself, one in 89 with <code>STOP</code>); the reply is in <code>/api/rest/v1/sms/incoming</code>, and once in <code>httpgetreplies.asp</code> or <code>xmlgetreplies.asp</code>:</p>
<pre>npx pnpm gateway simulate reply --from 27825550101 --to 12025550100 --text 'Yes'</pre>
<p>Open an account of your own:</p>
<pre>npx pnpm gateway account open --login acme --credits 500</pre>
<p>How to run the gateway for good: <a href="docs/guide/operations">operations</a>.</p>
</body>
</html>
`

/** Path of this page. The portal itself is at `/`. */
export const frontPagePath = '/developers'

/** Returns a page that lists the interfaces and commands to try next. It contains no account and no key. */
export const frontPage = (): Router => {
  const router = Router({ caseSensitive: true, strict: true })
  router.get(frontPagePath, (request, response) => {
    const host = request.get('host') ?? ''
    const gateway = /^[\w.:[\]-]+$/.test(host) ? `${request.protocol}://${host}` : 'http://127.0.0.1:8080'
    response.set('Cache-Control', 'no-store').type('html').send(page(gateway))
  })
  return router
}
