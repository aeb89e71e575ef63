import { startAsp } from '../../testing/start-asp.ts'

test.each([
  ['', 200, 'Error="No message ids supplied"'],
  [`messageid=${'1;'.repeat(101)}`, 200, 'Error="Too many message ids supplied"'],
  ['messageid=1;', 501, 'Error="Not available in this version"'],
])('?%.20s is %i %s', async (query, status, text) => {
  const asp = await startAsp()
  const answer = await asp.get('deletescheduled.asp', query)
  expect([answer.status, answer.text]).toEqual([status, text])
  await asp.close()
})
