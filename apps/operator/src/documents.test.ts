import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { anOperator, takeAll } from '../testing/operate.ts'
import { types } from '../testing/vocabulary.ts'
import { createProgram } from './program.ts'

let folder: string
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'operator-'))))
afterAll(() => rm(folder, { recursive: true }))

const number = '+27825550101'
const webhook = ['--account', '1', '--url', 'https://crm.example.com/events']

/** All commands once, in an order in which each has something to do. `FOLDER` stands for the folder of the test. */
const calls: readonly (readonly string[])[] = [
  ['migrate'],
  ['account', 'open', '--login', 'main', '--credits', '100'],
  ['account', 'open', '--login', 'sub', '--parent', '1'],
  ['account', 'list'],
  ['account', 'show', 'main'],
  ['account', 'top'],
  ['top'],
  ['account', 'set', '2', '--surname', 'Sub'],
  ['account', 'limit', '2', '--requests', '5'],
  ['account', 'password', '1', '--generate'],
  ['account', 'factor', '1', '--require', 'off'],
  ['account', 'transfer', '1', '2', '5'],
  ['account', 'user', 'add', '1', 'ann@acme.example', '--role', 'sender'],
  ['account', 'user', 'list', '1'],
  ['account', 'user', 'link', 'ann@acme.example'],
  ['account', 'user', 'role', 'ann@acme.example', 'owner'],
  ['account', 'user', 'lock', 'ann@acme.example'],
  ['account', 'user', 'unlock', 'ann@acme.example'],
  ['account', 'user', 'forget-factor', 'ann@acme.example'],
  ['account', 'user', 'remove', 'ann@acme.example'],
  ['account', 'lock', '2'],
  ['account', 'unlock', '2'],
  ['account', 'close', '2', '--write-off', 'closed'],
  ['account', 'unlock', '2'],
  ['key', 'issue', '1', '--label', 'crm'],
  ['key', 'set', '1', '--from', '192.0.2.0/24'],
  ['key', 'list', '1'],
  ['key', 'revoke', '1'],
  ['credits', 'top-up', '1', '5', '--why', 'invoice'],
  ['price', 'set', '27', '2'],
  ['price', 'list'],
  ['price', 'set', '27', '1', '--account', '1'],
  ['price', 'list', '--account', '1'],
  ['price', 'remove', '27'],
  ['number', 'block', number, '--reason', 'blacklisted'],
  ['number', 'list'],
  ['number', 'unblock', number],
  ['number', 'export', number],
  ['number', 'erase', number, '--dry-run'],
  ['number', 'erase', number],
  ['number', 'erasures'],
  ['shortcode', 'assign', '31022', '1'],
  ['shortcode', 'list'],
  ['shortcode', 'release', '31022'],
  ['sender', 'add', '1', 'Acme', '--to', '27', '--default-for', '27,default', '--carriers', 'one'],
  ['sender', 'list'],
  ['sender', 'remove', '1', 'Acme'],
  ['webhook', 'add', ...webhook],
  ['webhook', 'list'],
  ['webhook', 'show', '1'],
  ['webhook', 'pause', '1'],
  ['webhook', 'resume', '1'],
  ['webhook', 'rotate', '1'],
  ['webhook', 'test', '1'],
  ['webhook', 'attempts', '1'],
  ['webhook', 'replay', '1', '--dead'],
  ['webhook', 'remove', '1'],
  ['smpp', 'add', '--account', '1'],
  ['smpp', 'list'],
  ['smpp', 'show', '1'],
  ['smpp', 'set', '1', '--window', '20'],
  ['smpp', 'rotate', '1'],
  ['smpp', 'binds'],
  ['smpp', 'replies', '1', 'smpp'],
  ['smpp', 'remove', '1'],
  ['optout', 'add', '1', number],
  ['optout', 'list', '1'],
  ['optout', 'export', '1', '--file', 'FOLDER/optouts.csv'],
  ['optout', 'import', '2', '--file', 'FOLDER/optouts.csv'],
  ['optout', 'remove', '1', number],
  ['send', '--account', '1', '--to', number, '--text', 'Hello'],
  ['account', 'ledger', '1'],
  ['account', 'ledger', '--all'],
  ['completion', 'bash'],
  ['credits', 'verify'],
  ['message', 'find', '--number', number],
  ['message', 'explain', '1'],
  ['message', 'refund', '1', '--why', 'complaint'],
  ['send', '--account', '1', '--to', number, '--text', 'Later', '--at', '203012312359'],
  ['message', 'cancel', '2'],
  ['queue', 'show'],
  ['failover', 'status'],
  ['failover', 'resume', '--end', '--yes'],
  ['dispatcher', 'list'],
  ['carrier', 'list'],
  ['carrier', 'check', 'FOLDER/carriers.json'],
  ['carrier', 'apply', 'FOLDER/carriers.json'],
  ['carrier', 'versions'],
  ['carrier', 'receipts', '--unread'],
  ['carrier', 'pause', 'a'],
  ['carrier', 'drain', 'a'],
  ['carrier', 'resume', 'a'],
  ['simulate', 'reply', '--from', number, '--to', '12025550199', '--text', 'Yes'],
  ['arrivals', 'list'],
  ['operator', 'add', 'ann', '--role', 'support', '--generate'],
  ['operator', 'list'],
  ['operator', 'lock', 'ann'],
  ['operator', 'unlock', 'ann'],
  ['operator', 'role', 'ann', 'admin'],
  ['operator', 'password', 'ann', '--generate'],
  ['operator', 'forget-factor', 'ann'],
  ['audit', 'list'],
  ['audit', 'verify'],
  ['audit', 'export'],
  ['history', 'drop'],
  ['ids', 'skip', '--blocks', '1'],
  ['secrets', 'reseal'],
  ['backup', 'list', 'FOLDER'],
  ['backup', 'prune', 'FOLDER', '--keep', '7'],
  ['database', 'copy', '--to', 'postgres://me@db/x'],
]

/**
 * Commands that need more than this test provides. They run in tests/carrier-test.test.ts and in the tests of carriers,
 * doctor, init and backup.
 */
const elsewhere = [
  ...['carrier test', 'carrier show', 'carrier watch', 'doctor', 'init', 'database upgrade'],
  ...['backup create', 'backup restore', 'backup verify'],
]

const pathsOf = (command: Command, path: readonly string[] = []): readonly string[] =>
  command.commands.length === 0
    ? [path.join(' ')]
    : command.commands.flatMap((one) => pathsOf(one, [...path, one.name()]))

const nothing = () => Promise.resolve()
const never = () => new Promise<never>(() => undefined)
const program = createProgram(
  { run: nothing, runAlone: nothing, look: never, runMigrate: nothing, runCopy: nothing, runBackup: nothing },
  '1',
)
const pathOf = (call: readonly string[]): string =>
  pathsOf(program).find((path) => call.join(' ').startsWith(path)) ?? ''

test('each command prints one document with names of the page; reading commands print {rows, total}', async () => {
  await writeFile(join(folder, 'carriers.json'), JSON.stringify({ carriers: [{ name: 'a', url: 'simulator:' }] }))
  const operator = anOperator()
  for (const call of calls) {
    if (call[1] === 'refund') await takeAll(operator)
    const args = call.map((arg) => arg.replace('FOLDER', folder))
    // The content of a document is not checked here: testing/vocabulary.ts checks it whenever a test runs a command.
    expect([call, typeof (await operator.json(...args))]).toEqual([call, 'object'])
  }
})

test('the list contains every command', () => {
  expect([...new Set([...calls.map(pathOf), ...elsewhere])].sort()).toEqual([...pathsOf(program)].sort())
  expect(types.size).toBeGreaterThan(100)
})
