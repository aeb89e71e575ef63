import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { simulatedCarrier, simulatorSettingsFromUrl } from './simulated-carrier.ts'

test.each([
  ['simulator:', {}],
  ['simulator:?', {}],
  ['simulator:?delayMs=0', { delayMilliseconds: 0 }],
  ['simulator:?delayMs=0&window=500&perSecond=20', { delayMilliseconds: 0, window: 500, perSecond: 20 }],
])('%s is %j', (url, parameters) => {
  expect(simulatorSettingsFromUrl(url)).toEqual(parameters)
})

test.each([
  ['simulator', 'expected simulator:?name=value'],
  ['smpp://host', 'expected simulator:?name=value'],
  ['simulator:delayMs=0', 'expected simulator:?name=value'],
  ['simulator:?delay=0', 'unknown parameter "delay"'],
  ['simulator:?__proto__=1', 'unknown parameter "__proto__"'],
  ['simulator:?window=0', 'window is "0"'],
  ['simulator:?window=-1', 'window is "-1"'],
  ['simulator:?window=1e3', 'window is "1e3"'],
  ['simulator:?delayMs=', 'delayMs is ""'],
  ['simulator:?delayMs=1&delayMs=2', 'delayMs is given twice'],
])('%s is refused: %s, with the valid choices', (url, why) => {
  expect(() => simulatorSettingsFromUrl(url)).toThrow(why)
  expect(() => simulatorSettingsFromUrl(url)).toThrow(/delayMs .*window .*perSecond /)
})

test('a carrier is created with its name and window in the folder', async () => {
  const folder = join(await mkdtemp(join(tmpdir(), 'simulator-')), 'made')
  const carrier = simulatedCarrier({ folder, id: 'first', ...simulatorSettingsFromUrl('simulator:?window=5') })
  expect([carrier.id, carrier.window, existsSync(folder)]).toEqual(['first', 5, true])
  await carrier.close(Promise.resolve())
  await rm(join(folder, '..'), { recursive: true })
})
