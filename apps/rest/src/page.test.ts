import { isFailure } from './answer.ts'
import { readPage } from './page.ts'

test.each([
  ['', { offset: 0, limit: 100 }],
  ['offset=5', { offset: 5, limit: 100 }],
  ['limit=1000&offset=0', { offset: 0, limit: 1000 }],
  ['limit=1&limit=0&x=y', { offset: 0, limit: 1 }],
])('?%s is %j', (query, page) => {
  expect(readPage(query)).toEqual(page)
})

test.each([
  ['offset=-1', 'offset'],
  ['offset=a&limit=0', 'offset'],
  ['offset=', 'offset'],
  ['offset=1.5', 'offset'],
  ['offset=1e3', 'offset'],
  ['offset=99999999999999999999', 'offset'],
  ['limit=0', 'limit'],
  ['limit=1001', 'limit'],
  ['limit=x', 'limit'],
])('?%s is 422 and names %s', (query, named) => {
  const read = readPage(query)
  expect(isFailure(read) && [read.status, read.errorMessage.split(' ')[0]]).toEqual([422, named])
})

test('what is refused is named as it was written, and the bounds are the true ones', () => {
  expect(readPage('offset=9007199254740991')).toMatchObject({ offset: 9_007_199_254_740_991 })
  expect(readPage('offset=9007199254740992')).toMatchObject({
    errorMessage:
      'offset must be a whole number from 0 to 9007199254740991, written in digits only; got "9007199254740992".',
  })
  expect(readPage('limit=1001')).toMatchObject({
    errorMessage: 'limit must be a whole number from 1 to 1000, written in digits only; got "1001".',
  })
})
