import type { DemoAccount } from './demo-account.ts'
import { firstScreen } from './first-screen.ts'

// The key (256 bits) and the password (20 characters) are as long as real ones.
const demo = {
  ...{ id: 1, login: 'demo', password: 'p'.repeat(20), apiKey: `gw_${'k'.repeat(43)}`, subLogin: 'demo-sub' },
} as DemoAccount
const base = 'http://127.0.0.1:65535'
const screen = (isSimulated: boolean): string => firstScreen({ base, linkToken: 't'.repeat(43), isSimulated }, demo)

test.each([true, false])('the first screen fits 80 columns and 24 lines (simulated: %s)', (isSimulated) => {
  const lines = screen(isSimulated).split('\n')
  expect(lines.filter((line) => line.length > 80)).toEqual([])
  // One line is reserved for the prompt, or for the next output.
  expect(lines.length).toBeLessThanOrEqual(23)
})

test('the first screen shows commands to try with simulated carriers, and none that would send with real ones', () => {
  const [simulated, real] = [screen(true), screen(false)]
  expect(simulated).toContain('curl -s')
  expect(simulated).toContain('sends nothing to any network')
  expect(real).not.toContain('curl')
  expect(real).not.toContain('simulated')
  expect(real).toContain('messages of this account reach people')
  for (const text of [simulated, real]) {
    expect(text).toContain(`API key   ${demo.apiKey}`)
    expect(text).toContain(`\n${base}/link?token=${'t'.repeat(43)}\n`)
  }
})
