import { aNumber } from '@gateway/core/testing'
import { startPortal, type Portal, type Visitor } from '../../../testing/start-portal.ts'

let portal: Portal
let visitor: Visitor
beforeEach(async () => {
  portal = await startPortal()
  visitor = await portal.signedIn()
})
afterEach(() => portal.close())

const numbers = async (path = '/opt-outs'): Promise<readonly string[]> =>
  (await visitor.get(path)).html.querySelectorAll('tbody td:first-child').map((cell) => cell.textContent)

test('a number is added once, as people write it, and removed again', async () => {
  expect((await visitor.get('/opt-outs')).text).toContain('Nobody has opted out.')
  expect((await visitor.submit('/opt-outs', { number: '+27 82 000 0001' })).to).toBe('/opt-outs?done=added')
  expect((await visitor.submit('/opt-outs', { number: '27820000001' })).to).toBe('/opt-outs?done=already')
  expect(await numbers()).toEqual(['27820000001'])
  expect((await visitor.get('/opt-outs')).text).toContain('added by you')
  const page = await visitor.get('/opt-outs')
  expect((await visitor.submit(page, {}, 'td form')).to).toBe('/opt-outs?done=removed')
  expect((await visitor.submit(page, {}, 'td form')).to).toBe('/opt-outs')
  expect(await numbers()).toEqual([])
})

test('an input that is not a number is reported beside the field and adds nothing', async () => {
  const wrong = await visitor.submit('/opt-outs', { number: '0825' })
  expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining('This begins with 0.')])
  expect(wrong.html.querySelector('#field-number')?.getAttribute('value')).toBe('0825')
  expect(await numbers()).toEqual([])
})

test('a number that is read differently is shown as typed and as opted out, and an uncertain one adds nothing', async () => {
  const added = await visitor.submit('/opt-outs', { number: '27820000001.0' })
  expect((await visitor.get(added.to ?? '')).text).toContain('“27820000001.0” was read as 27820000001.')
  expect(await numbers()).toEqual(['27820000001'])
  expect((await visitor.get('/opt-outs?done=added&written=hello')).text).not.toContain('hello')
  for (const [number, problem] of [
    ['4.3660123456E+10', 'A spreadsheet has rounded this number.'],
    ['43660123456.5', 'It is not certain which number is meant.'],
  ] as const) {
    const refused = await visitor.submit('/opt-outs', { number })
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining(problem)])
  }
  expect(await numbers()).toEqual(['27820000001'])
})

test('a long list continues after the last number of the page', async () => {
  const since = portal.clock.now()
  const all = Array.from({ length: 60 }, (_, i) => aNumber(String(27820000100 + i)))
  for (const number of all)
    await portal.ports.suppressions.add({ scope: portal.account.id, number, kind: 'opt-out', since })
  expect(await numbers()).toEqual(all.slice(0, 50))
  const more = (await visitor.get('/opt-outs')).html.querySelector('.actions a')?.getAttribute('href')
  expect(await numbers(`/opt-outs${more}`)).toEqual(all.slice(50))
})
