import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { anAccount, anAccountId } from '@gateway/core/testing'
import { anOperator } from '../testing/operate.ts'

const folder = mkdtempSync(join(tmpdir(), 'confirm-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Commands that cannot be undone, and the beginning of their questions. */
const asking: readonly (readonly [question: string, ...args: string[]])[] = [
  ['Close account 1 (acme)? Its keys', 'account', 'close', 'acme'],
  ['Revoke key 7?', 'key', 'revoke', '7'],
  ['Erase the data stored about 27825550101', 'number', 'erase', '27825550101'],
  ['Remove webhook 7', 'webhook', 'remove', '7'],
  ['Cancel message 20481?', 'message', 'cancel', '20481'],
  ['Skip 3 blocks', 'ids', 'skip', '--blocks', '3'],
  ['Delete all backups in', 'backup', 'prune', folder, '--keep', '1'],
  ['Let account 1 send to 27825550101 again', 'optout', 'remove', '1', '27825550101'],
]

async function aGateway(isTerminal: boolean) {
  const operator = anOperator({ isTerminal })
  await anAccount(operator.ports, { login: 'acme' })
  return operator
}

test.each(asking)('at a terminal it asks "%s", does nothing without a yes, and continues with one', async (...row) => {
  const [question, ...args] = row
  for (const typed of ['n\n', '\n', '', 'yesterday\n']) {
    const refused = await (await aGateway(true)).run(args, typed)
    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.err).toContain(question)
    expect(refused.err).toContain('[y/N] ')
    expect(refused.err.endsWith('Nothing was done.\n')).toBe(true)
  }
  const silent = await (await aGateway(false)).run(args)
  for (const typed of ['y\n', 'YES\n']) {
    const done = await (await aGateway(true)).run(args, typed)
    expect([done.code, done.out]).toEqual([silent.code, silent.out])
    expect(done.err).not.toContain('Nothing was done.')
  }
})

test.each(asking)('without a terminal, with --yes and with --json nothing is asked (%s)', async (...row) => {
  const args = row.slice(1)
  const silent = await (await aGateway(false)).run(args, 'n\n')
  expect(silent.err).not.toContain('[y/N]')
  const yes = await (await aGateway(true)).run([...args, '--yes'], 'n\n')
  expect([yes.code, yes.out]).toEqual([silent.code, silent.out])
  expect(yes.err).not.toContain('[y/N]')
  expect((await (await aGateway(true)).run([...args, '--json'], 'n\n')).err).not.toContain('[y/N]')
})

test('after a refused confirmation an account stays as it was, and after a confirmed one it is locked', async () => {
  const operator = await aGateway(true)
  await operator.run(['account', 'close', 'acme'], 'n\n')
  expect(await operator.row('account', 'show', 'acme')).toMatchObject({ locked: false })
  await operator.run(['account', 'close', 'acme'], 'y\n')
  expect(await operator.row('account', 'show', 'acme')).toMatchObject({ locked: true })
})

const csv = join(folder, 'numbers.csv')
writeFileSync(csv, '27825550102\n')

/** All commands that name an account. */
test.each<readonly string[]>([
  ['account', 'set', 'ACCOUNT', '--surname', 'x'],
  ['account', 'limit', 'ACCOUNT', '--requests', '5'],
  ['account', 'ledger', 'ACCOUNT'],
  ['account', 'lock', 'ACCOUNT'],
  ['account', 'unlock', 'ACCOUNT'],
  ['account', 'password', 'ACCOUNT', '--generate'],
  ['account', 'factor', 'ACCOUNT', '--require', 'on'],
  ['account', 'user', 'add', 'ACCOUNT', 'ann@acme.example', '--role', 'owner'],
  ['account', 'user', 'list', 'ACCOUNT'],
  ['account', 'open', '--login', 'sub', '--parent', 'ACCOUNT'],
  ['account', 'transfer', 'ACCOUNT', '2', '0'],
  ['account', 'close', 'ACCOUNT'],
  ['key', 'issue', 'ACCOUNT'],
  ['key', 'list', 'ACCOUNT'],
  ['credits', 'top-up', 'ACCOUNT', '5', '--why', 'gift'],
  ['price', 'set', '27', '1', '--account', 'ACCOUNT'],
  ['price', 'list', '--account', 'ACCOUNT'],
  ['shortcode', 'assign', '31022', 'ACCOUNT'],
  ['sender', 'add', 'ACCOUNT', 'Acme'],
  ['sender', 'list', '--account', 'ACCOUNT'],
  ['optout', 'add', 'ACCOUNT', '27825550101'],
  ['optout', 'list', 'ACCOUNT'],
  ['optout', 'import', 'ACCOUNT', '--file', csv],
  ['optout', 'export', 'ACCOUNT'],
  ['webhook', 'add', '--account', 'ACCOUNT', '--url', 'https://x.example'],
  ['webhook', 'list', '--account', 'ACCOUNT'],
  ['message', 'find', '--number', '27825550101', '--account', 'ACCOUNT'],
  ['audit', 'list', '--account', 'ACCOUNT'],
  ['send', '--account', 'ACCOUNT', '--to', '27825550101', '--text', 'Hello'],
])('a login is accepted as the name of an account: %s %s %s', async (...args) => {
  // Keys are random, and each run has its own time.
  const varying = /gw_\S+|[A-Za-z0-9_-]{16,}|\d\d:\d\d:\d\d/g
  const run = async (name: string) => {
    const operator = await aGateway(false)
    const outcome = await operator.run(args.map((word) => (word === 'ACCOUNT' ? name : word)))
    return { ...outcome, out: outcome.out.replace(varying, '…') }
  }
  const byId = await run('1')
  expect(await run('ACME')).toEqual(byId)
  const unknown = await run('nobody')
  expect([unknown.code, unknown.err]).toEqual([1, 'There is no account nobody.\n'])
})

test('digits mean an id first, so that a login of digits cannot stand for another account', async () => {
  const operator = anOperator()
  const { id } = await anAccount(operator.ports, { login: '7' })
  expect(id).toBe(anAccountId(1))
  expect(await operator.run(['account', 'lock', '7'])).toMatchObject({ code: 1, err: 'There is no account 7.\n' })
})

test.each([
  [
    ['help', 'account', 'open'],
    ['account', 'open', '--help'],
  ],
  [
    ['help', 'account', 'user', 'add'],
    ['account', 'user', 'add', '--help'],
  ],
  [
    ['help', 'account'],
    ['account', '--help'],
  ],
  [['help'], ['--help']],
])('%j prints the same as %j', async (words, equivalent) => {
  const operator = anOperator()
  const help = await operator.run(equivalent)
  expect(await operator.run(words)).toEqual(help)
  expect(help.out).toContain('Usage: gateway')
})

test('the help of an unknown command reports that', async () => {
  expect(await anOperator().run(['help', 'account', 'opne'])).toEqual({
    ...{ code: 2, out: '' },
    err: "There is no command 'account opne'. See 'gateway --help'.\n",
  })
})
