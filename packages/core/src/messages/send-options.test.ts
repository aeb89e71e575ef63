import { labelsOf, noOptions, priorityOf, readSendOption, readSendOptions, type Category } from './send-options.ts'

test.each([
  ['validity', [undefined, null, '', ' '], undefined],
  ['validity', ['60', ' 060 '], 60],
  ['validity', ['0', '4321', '-1', '1.5', '1e2', 'x', '\u0000'], 'unusable'],
  ['priority', [undefined, null, '', ' ', '0', ' 0 '], undefined],
  ['priority', ['3', '\n3'], 3],
  ['priority', ['4', '-1', '1.5', '01', '1e0', 'x', '\u0000'], 'unusable'],
  ['flash', [undefined, null, '', ' ', 'false', 'FALSE', '0'], undefined],
  ['flash', ['true', 'TRUE', 'tRue', ' 1 '], true],
  ['flash', ['truee', 'yes', '2', 'null', '\u0000'], 'unusable'],
  ['category', [undefined, null, '', ' '], undefined],
  ['category', ['invoices', ' invoices '], 'invoices'],
  ['category', ['x'.repeat(33), 'a\u0000b', 'a\nb', '\ud800'], 'unusable'],
] as const)('%s of %j is read as %j', (name, texts, value) => {
  for (const text of texts) expect(readSendOption(name, text)).toBe(value)
})

test('a priority is one of 0 to 3', () => {
  const none = undefined
  expect([0, 1, 2, 3, 4, -1, 0.5, NaN].map(priorityOf)).toEqual([0, 1, 2, 3, none, none, none, none])
})

test('an option that means the same as an omitted one has no field', () => {
  const texts = { validity: '', priority: '0', flash: 'false', category: ' ' }
  expect(readSendOptions((name) => texts[name])).toStrictEqual({})
})

test('the first unusable option is reported', () => {
  const texts = { validity: '1', priority: '7', flash: 'maybe', category: 'a' }
  expect(readSendOptions((name) => texts[name])).toEqual({ unusable: 'priority' })
})

test('labels do not contain options on which statements decide', () => {
  expect(labelsOf({ priority: 2, flash: true })).toBeUndefined()
  expect(labelsOf(noOptions)).toBeUndefined()
  const category = 'invoices' as Category
  expect(labelsOf({ priority: 2, category })).toEqual({ category })
})
