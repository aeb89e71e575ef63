import { hadNoEffect, withoutEffect } from './without-effect.ts'

test('an error from withoutEffect is rethrown and marked; other errors are not', async () => {
  const error = new Error('hard luck')
  expect(hadNoEffect(error)).toBe(false)
  await expect(withoutEffect(() => Promise.reject(error))).rejects.toBe(error)
  expect([hadNoEffect(error), hadNoEffect(new Error('hard luck')), hadNoEffect('text')]).toEqual([true, false, false])
  expect(await withoutEffect(() => 5)).toBe(5)
})

test('an error that says so itself had no effect', () => {
  const error = new Error('the disk is full')
  expect(hadNoEffect(Object.assign(error, { hadNoEffect: false }))).toBe(false)
  expect(hadNoEffect(Object.assign(error, { hadNoEffect: true }))).toBe(true)
})
