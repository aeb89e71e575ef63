import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { anOperator } from '../../testing/operate.ts'

let folder: string
let file: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carriers-'))
  file = join(folder, 'carriers.json')
})
afterEach(() => rm(folder, { recursive: true }))

const carrier = { name: 'mtn', host: 'smsc.example', systemId: 'me', password: { environment: 'MTN' } }

test('carrier check accepts what a server would accept, with the secrets of the environment, and tells the names', async () => {
  const routes = [{ name: 'all', carriers: [{ carrier: 'mtn' }] }]
  await writeFile(file, JSON.stringify({ carriers: [carrier], routes }))
  const operator = anOperator({ variables: { MTN: 'hidden' } })
  expect(await operator.json('carrier', 'check', file)).toEqual({ accepted: true, carriers: ['mtn'], routes: ['all'] })
  expect(await operator.run(['carrier', 'check', file])).toEqual({
    ...{ code: 0, err: '' },
    out: 'Accepted: the carriers mtn and the routes all.\n',
  })
})

test('carrier check refuses the others, names the place, and shows no password', async () => {
  const operator = anOperator({ variables: { MTN: 'hidden-and-too-long' } })
  await writeFile(file, JSON.stringify({ carriers: [carrier] }))
  const { code, out, err } = await operator.run(['carrier', 'check', file, '--json'])
  expect([code, out]).toEqual([1, ''])
  const { error } = JSON.parse(err) as { error: string }
  expect(error).toContain('/carriers/0 (mtn): ')
  expect(error).toContain('the password has more than 8 characters')
  expect(error).not.toContain('hidden')
  expect(await operator.run(['carrier', 'check', join(folder, 'none')])).toMatchObject({
    code: 1,
    err: expect.stringContaining('it cannot be read: ENOENT') as string,
  })
})
