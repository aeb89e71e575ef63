import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { until } from '@gateway/core/testing'
import { callbackReceiver } from '../../testing/callback-receiver.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'

const main = fileURLToPath(new URL('../../dist/http-main.js', import.meta.url))
const started: ChildProcess[] = []
afterEach(() => {
  for (const each of started.splice(0)) each.kill('SIGKILL')
})

function run(...args: readonly string[]) {
  const child = spawn(process.execPath, [main, ...args])
  started.push(child)
  const output = { text: '' }
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output.text += chunk.toString()))
  return { child, output }
}

test('the command serves a provider and its control, and keeps a journal', async () => {
  const receiver = await callbackReceiver()
  const path = join(await temporaryFolder(), 'journal.jsonl')
  const ports = ['--port', '0', '--control-port', '0']
  const { child, output } = run(...ports, '--json', '--journal', path, '--callback-url', receiver.url)
  await until(() => output.text.includes('\n'))
  const readiness = JSON.parse(output.text) as {
    readonly provider: string
    readonly url: string
    readonly control: string
  }
  expect(readiness).toMatchObject({
    provider: 'twilio',
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string,
  })
  const answer = await fetch(`${readiness.url}/2010-04-01/Accounts/AC1/Messages.json`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from('AC1:token').toString('base64')}` },
    body: new URLSearchParams({ To: '+27825550101', From: '+15005550006', Body: 'Hello' }),
  })
  expect([answer.status, await answer.json()]).toEqual([201, expect.objectContaining({ status: 'queued' })])
  const port = new URL(readiness.control).port
  const arrive = run('arrive', '--from', '27825550101', '--to', '15005550006', '--text', 'Hi', '--control-port', port)
  expect(await once(arrive.child, 'exit')).toEqual([0, null])
  const become = run('become', 'slow', '--set', 'answerDelay=5', '--control-port', port)
  expect(await once(become.child, 'exit')).toEqual([0, null])
  await receiver.count(1)
  const status = run('status', '--control-port', port)
  expect(await once(status.child, 'exit')).toEqual([0, null])
  expect(JSON.parse(status.output.text)).toMatchObject({ personality: 'slow', messages: { accepted: 1 } })
  await until(async () => (await readFile(path, 'utf8')).includes('"event":"callback"'))
  const [line = ''] = (await readFile(path, 'utf8')).split('\n')
  expect(JSON.parse(line)).toMatchObject({ event: 'message', to: '27825550101', decision: 'accepted' })
  child.kill()
  expect(await once(child, 'exit')).toEqual([0, null])
  receiver.close()
})

test.each([
  [
    ['--provider', 'pigeon'],
    /^There is no provider "pigeon"; there are twilio, .*\. See 'gateway-http-provider --help'/,
  ],
  [['--personality', 'mean'], /^There is no personality "mean"/],
  [['--set', 'answerForm=poem'], /^answerForm cannot be "poem"\./],
  [['--secret', 'token'], /^--secret needs the form name=value\./],
  [['--callback-url', 'here'], /^"here" is not a URL\./],
  [['--cert', 'x'], /^TLS needs --cert and --key\./],
  [['arrive', '--from', '1'], /^arrive needs --from, --to and --text\./],
])('%j is refused with 2 and the reason', async (args, words) => {
  const { child, output } = run(...args)
  expect(await once(child, 'exit')).toEqual([2, null])
  expect(output.text).toMatch(words)
})

test('a command that no provider hears ends with 1 and the reason', async () => {
  const { child, output } = run('become', 'slow', '--control-port', '1')
  expect(await once(child, 'exit')).toEqual([1, null])
  expect(output.text).toBe('No gateway-http-provider answers on port 1 (--control-port).\n')
})
