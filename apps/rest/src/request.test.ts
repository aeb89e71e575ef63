import { idsIn, recipientsIn } from './request.ts'

const recipients = (count: number) => Array.from({ length: count }, (_, i) => ({ mobileNumber: `2782555${1000 + i}` }))

describe('how much a body is for', () => {
  test.each([1, 50, 1000])('a send to %s, as text and parsed', (count) => {
    const send = { message: 'Hello', recipients: recipients(count) }
    expect(recipientsIn(JSON.stringify(send, undefined, 2))).toBe(count)
    expect(recipientsIn({ parsed: send })).toBe(count)
  })

  test.each([1, 50, 1000])('%s ids, as text and parsed', (count) => {
    const ids = Array.from({ length: count }, (_, i) => 1000 + i)
    expect(idsIn(JSON.stringify(ids))).toBe(count)
    expect(idsIn({ parsed: ids })).toBe(count)
  })

  test('what is for nothing counts as one', () => {
    expect([recipientsIn(''), recipientsIn('{}'), idsIn('[]')]).toEqual([1, 1, 1])
  })
})
