import { startRest, type Rest } from '../../../testing/start-rest.ts'

let rest: Rest
beforeEach(async () => {
  rest = await startRest()
})
afterEach(() => rest.close())

const asked = { sendingAccountNumber: 1, receivingAccountNumber: 2, transferQuantity: 10 }

test('a transfer of the right shape is 501 with the envelope in this version', async () => {
  const answer = await rest.post('/credits/transfer', asked)
  expect(answer.status).toBe(501)
  expect(answer.body).toMatchObject({
    statusCode: 501,
    errorMessage: 'The transfer of credits is not available in this version.',
  })
})

test.each([
  [[], 'The body must be an object.'],
  [null, 'The body must be an object.'],
  [{ ...asked, sendingAccountNumber: undefined }, 'sendingAccountNumber is missing.'],
  [{ ...asked, sendingAccountNumber: 'W1' }, 'sendingAccountNumber must be a whole number.'],
  [{ ...asked, receivingAccountNumber: '2' }, 'receivingAccountNumber must be a whole number.'],
  [{ ...asked, transferQuantity: 1.5 }, 'transferQuantity must be a whole number.'],
  [{ ...asked, transferQuantity: null }, 'transferQuantity must be a whole number.'],
])('%j is 422: %s', async (body, errorMessage) => {
  const answer = await rest.post('/credits/transfer', body)
  expect(answer.status).toBe(422)
  expect(answer.body).toMatchObject({ errorMessage })
})
