import { idsIn, recipientsIn } from './request.ts'

const recipients = (count: number) => Array.from({ length: count }, (_, i) => ({ mobileNumber: `2782555${1000 + i}` }))

describe('the estimated number of items of a body', () => {
  test.each([1, 50, 1000])('is exact for a send to %s recipients, as text and parsed', (count) => {
    const send = { message: 'Hello', recipients: recipients(count) }
    expect(recipientsIn(JSON.stringify(send, undefined, 2))).toBe(count)
    expect(recipientsIn({ parsed: send })).toBe(count)
  })

  test.each([1, 50, 1000])('is exact for is exact for %s ids, as text and parsed', (count) => {
    const ids = Array.from({ length: count }, (_, i) => 1000 + i)
    expect(idsIn(JSON.stringify(ids))).toBe(count)
    expect(idsIn({ parsed: ids })).toBe(count)
  })

  test('is at least one', () => {
    expect([recipientsIn(''), recipientsIn('{}'), idsIn('[]')]).toEqual([1, 1, 1])
  })
})
