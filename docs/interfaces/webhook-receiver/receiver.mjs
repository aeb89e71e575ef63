// Receives the events of a webhook and prints each once, as a line of JSON. Node 20, with: npm install
// SECRET=whsec_... PORT=3000 node receiver.mjs
import { Buffer } from 'node:buffer'
import { createServer } from 'node:http'
import { Webhook } from 'standardwebhooks'

const { SECRET, PORT = '3000' } = process.env
const webhook = new Webhook(SECRET)
// A real receiver stores the ids in its database, in the transaction that does the work.
const seen = new Set()

const server = createServer(async (request, response) => {
  const pieces = []
  for await (const piece of request) pieces.push(piece)
  try {
    const { data } = webhook.verify(Buffer.concat(pieces).toString(), request.headers)
    for (const event of data.events) {
      if (!seen.has(event.id)) console.log(JSON.stringify(event))
      seen.add(event.id)
    }
    response.writeHead(204).end()
  } catch {
    response.writeHead(400).end('The signature is wrong.')
  }
})
server.listen(Number(PORT), '127.0.0.1', () => console.log(`listening on ${server.address().port}`))
