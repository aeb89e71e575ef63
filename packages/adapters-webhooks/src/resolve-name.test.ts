import { startDnsServer } from '../testing/dns-server.ts'
import { aPush } from '../testing/pushes.ts'
import { resolveName } from './resolve-name.ts'
import { webhookClient } from './webhook-client.ts'

const server = startDnsServer({
  'public.example': { a: ['8.8.8.8', '8.8.4.4'] },
  'alias.example': { alias: 'internal.example', a: ['127.0.0.1'] },
  'one-family.example': { a: ['8.8.8.8'], sixToo: 'silent' },
  'empty.example': { a: [] },
  'silent.example': 'silent',
})
afterAll(async () => (await server).close())

const resolve = async (name: string, signal = new AbortController().signal) =>
  resolveName(name, signal, [(await server).address])

test('a name resolves to the addresses of both families, with one query each', async () => {
  expect([...(await resolve('public.example'))].sort()).toEqual(['8.8.4.4', '8.8.8.8'])
  const questions = (await server).questions.filter((question) => question.startsWith('public.example'))
  expect([...questions].sort()).toEqual(['public.example A', 'public.example AAAA'])
})

test('a silent address family delays a name by 100 ms only', async () => {
  const started = performance.now()
  expect(await resolve('one-family.example')).toEqual(['8.8.8.8'])
  // Without that limit, the call would take until the second query times out.
  expect(performance.now() - started).toBeLessThan(1900)
})

test.each(['nobody.example', 'empty.example'])('%s has no address: name-not-found', async (name) => {
  await expect(resolve(name)).rejects.toMatchObject({ failure: 'name-not-found' })
})

test('aborting the connection ends the query to a silent server', async () => {
  const client = webhookClient({ resolve, connectMilliseconds: 300 })
  expect(await client.push(aPush('https://silent.example/'))).toMatchObject({ failure: 'timeout' })
  await client.close(Promise.resolve())
})

test('an alias of an internal name is refused because of its address', async () => {
  expect(await resolve('alias.example')).toEqual(['127.0.0.1'])
  const client = webhookClient({ resolve })
  expect(await client.push(aPush('https://alias.example/'))).toMatchObject({ failure: 'internal-address' })
  await client.close(Promise.resolve())
})
