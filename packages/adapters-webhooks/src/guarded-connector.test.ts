import { createServer } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { aPush } from '../testing/pushes.ts'
import { startReceiver } from '../testing/receiver.ts'
import { webhookClient } from './webhook-client.ts'

/** Starts a proxy that connects every tunnel to `to` if the request has the right user. */
async function startProxy(to: number, status = 200) {
  const tunnels: string[] = []
  const sockets: Socket[] = []
  const server = createServer((_, response) => response.writeHead(405).end())
  server.on('connect', ({ url = '', headers }, socket: Socket) => {
    tunnels.push(url)
    sockets.push(socket.on('error', () => undefined))
    const isKnown = headers['proxy-authorization'] === `Basic ${Buffer.from('me:p@ss').toString('base64')}`
    if (!isKnown || status !== 200) return void socket.end(`HTTP/1.1 ${isKnown ? status : 407} No\r\n\r\n`)
    const onward = connect(to, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connected\r\n\r\n')
      socket.pipe(onward).pipe(socket)
    })
    sockets.push(onward.on('error', () => undefined))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  return { tunnels, port, url: `http://me:p%40ss@127.0.0.1:${port}`, close }
}

const names: Readonly<Record<string, string>> = { 'public.example': '8.8.8.8', 'internal.example': '10.0.0.1' }
const resolve = (name: string) => Promise.resolve([names[name] ?? ''])

async function throughProxy(resolvesNames: boolean, url: string, settings: { user?: string; status?: number } = {}) {
  const hosts: unknown[] = []
  const receiver = await startReceiver({ onRequest: ({ headers }) => hosts.push(headers.host) })
  const proxy = await startProxy(receiver.port, settings.status)
  const proxyUrl = proxy.url.replace('me:', settings.user ?? 'me:')
  const client = webhookClient({ http: true, resolve, proxy: { url: proxyUrl, resolvesNames } })
  const answer = await client.push(aPush(url))
  await client.close(Promise.resolve())
  proxy.close()
  await receiver.close()
  return { answer, tunnels: proxy.tunnels, hosts }
}

test('the proxy receives a checked address, and the request names the host', async () => {
  const { answer, tunnels, hosts } = await throughProxy(false, 'http://public.example:8000/')
  expect(answer).toMatchObject({ outcome: 'answered', status: 200 })
  expect([tunnels, hosts]).toEqual([['8.8.8.8:8000'], ['public.example:8000']])
})

test('the proxy never receives an internal address, literal or resolved from a name', async () => {
  for (const url of ['http://internal.example/', 'http://127.1/', 'http://[::1]:8000/', 'http://169.254.169.254/']) {
    const { answer, tunnels } = await throughProxy(false, url)
    expect([answer, tunnels]).toMatchObject([{ failure: 'internal-address' }, []])
  }
})

test('a proxy that resolves names receives the name, but never a literal internal address', async () => {
  const named = await throughProxy(true, 'http://internal.example:8000/')
  expect([named.answer, named.tunnels]).toMatchObject([{ status: 200 }, ['internal.example:8000']])
  for (const url of ['http://127.1/', 'http://localhost:8000/', 'http://0x7f000001:8000/']) {
    const { answer, tunnels } = await throughProxy(true, url)
    expect([answer, tunnels]).toMatchObject([{ failure: 'internal-address' }, []])
  }
})

test('a proxy that refuses, rejects the user or does not listen fails the push as connection-failed', async () => {
  for (const settings of [{ status: 502 }, { user: 'you:' }])
    expect((await throughProxy(false, 'http://public.example/', settings)).answer).toMatchObject({
      failure: 'connection-failed',
    })
  const client = webhookClient({ http: true, resolve, proxy: { url: 'http://127.0.0.1:1', resolvesNames: false } })
  expect(await client.push(aPush('http://public.example/'))).toMatchObject({ failure: 'connection-failed' })
  await client.close(Promise.resolve())
})
