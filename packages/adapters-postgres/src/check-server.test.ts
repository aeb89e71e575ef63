import { freshDatabase } from '../testing/fresh-database.ts'
import { judgeServer } from './check-server.ts'
import { postgresPorts } from './postgres-ports.ts'

const good = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on', server_version_num: '150004' }

function judged(settings: Partial<typeof good>): readonly string[] {
  const warnings: string[] = []
  judgeServer(new Map(Object.entries({ ...good, ...settings })), {
    info: () => undefined,
    warn: (text) => warnings.push(text),
  })
  return warnings
}

test.each([
  [{ fsync: 'off' }, 'Set fsync = on'],
  [{ full_page_writes: 'off' }, 'Set full_page_writes = on'],
  [{ server_version_num: '140010' }, 'needs PostgreSQL 15'],
])('a server with %j is refused with an error that says what to do', (settings, message) => {
  expect(() => judged(settings)).toThrow(message)
})

test('a server that may lose its latest commits is accepted with a warning, others without', () => {
  expect(judged({ synchronous_commit: 'off' })).toHaveLength(1)
  for (const synchronous_commit of ['on', 'local', 'remote_apply']) expect(judged({ synchronous_commit })).toEqual([])
  expect(judged({ server_version_num: '180004' })).toEqual([])
})

test('the settings are read from the server: the one of the tests is refused because fsync is off', async () => {
  const database = await freshDatabase()
  const { checkServer, ping, close } = postgresPorts({ connectionString: database.connectionString })
  await expect(checkServer()).rejects.toThrow('Set fsync = on')
  await expect(ping()).resolves.toBeUndefined()
  await close()
  await database.drop()
})
