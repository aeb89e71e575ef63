import { PassThrough } from 'node:stream'
import { until } from '@gateway/core/testing'
import { Refused } from './command.ts'
import { terminal } from './terminal.ts'

const setUp = (isTTY: boolean) => {
  const stdin = Object.assign(new PassThrough(), { isTTY })
  const seen = { text: '', interrupts: 0 }
  const input = terminal(
    stdin,
    (text) => void (seen.text += text),
    () => seen.interrupts++,
  )
  return { stdin, seen, input }
}

test.each([
  ['secret\n', 'secret'],
  ['secret\r\n', 'secret'],
  ['secret', 'secret'],
  [' se cret \nmore\n', ' se cret '],
  ['', ''],
])('from a pipe with %j the password is %j, and nothing is shown', async (piped, expected) => {
  const { stdin, seen, input } = setUp(false)
  stdin.end(piped)
  expect(await input.password()).toBe(expected)
  expect(seen.text).toBe('')
})

test('a pipe that stays open is not waited for after its first line', async () => {
  const { stdin, input } = setUp(false)
  stdin.write('secret\n')
  expect(await input.password()).toBe('secret')
})

async function typeTwice(first: string, second: string) {
  const { stdin, seen, input } = setUp(true)
  const typed = input.password()
  typed.catch(() => undefined)
  await until(() => seen.text.endsWith('Password: '))
  stdin.write(`${first}\n`)
  await until(() => seen.text.endsWith('again: '))
  stdin.write(`${second}\n`)
  return { typed, seen }
}

test('a terminal is asked twice, and typed characters are not shown', async () => {
  const { typed, seen } = await typeTwice('secret', 'secret')
  expect(await typed).toBe('secret')
  expect(seen.text).toBe('Password: \nPassword again: \n')
})

test('two passwords that differ are refused', async () => {
  const { typed, seen } = await typeTwice('secret', 'secrte')
  await expect(typed).rejects.toEqual(new Refused('The two passwords differ; nothing was done.'))
  expect(seen.text).toBe('Password: \nPassword again: \n')
})

test('a blank answer is accepted without asking again', async () => {
  const { stdin, seen, input } = setUp(true)
  const typed = input.password()
  stdin.write('\n')
  expect(await typed).toBe('')
  expect(seen.text).toBe('Password: \n')
})

test('Ctrl-C during a question interrupts, and is not an answer', async () => {
  const { stdin, seen, input } = setUp(true)
  let answered = false
  void input.password().then(() => (answered = true))
  stdin.write('sec\u0003')
  await until(() => seen.interrupts === 1)
  expect(answered).toBe(false)
})
