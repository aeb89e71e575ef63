import { fillFields, fillTemplate } from './template.ts'

const values = { to: '27825550101', text: 'a "b" {to}', parts: 2, flash: true, from: undefined }

test.each([
  ['a placeholder alone keeps its type', { a: '{parts}', b: '{flash}' }, { a: 2, b: true }],
  ['a placeholder within text becomes text', { a: 'x{parts}y{to}' }, { a: 'x2y27825550101' }],
  ['a value with braces is not filled again', { a: '<{text}>' }, { a: '<a "b" {to}>' }],
  ['constants stay', { a: true, b: null, c: [1, 'x'] }, { a: true, b: null, c: [1, 'x'] }],
  ['a field whose value is missing is left out', { a: '{from}', b: '+{from}', c: '{to}' }, { c: '27825550101' }],
  ['an entry of a list whose value is missing is left out', { a: ['{from}', '{to}'] }, { a: ['27825550101'] }],
  ['an object in which every placeholder is missing is left out', { a: { b: { c: '{from}', d: 'x' } }, e: '{to}' }, { e: '27825550101' }],
  ['an object in which one placeholder has a value stays', { a: { c: '{from}', d: '{to}' } }, { a: { d: '27825550101' } }],
  ['a choice', { a: { $choose: '{parts}', from: { '1': 'one', '2': 'two {to}' } } }, { a: 'two 27825550101' }],
  ['a choice that has no such case is left out', { a: { $choose: '{parts}', from: { '1': 'one' } }, b: '{to}' }, { b: '27825550101' }],
  ['a choice by a missing value is left out', { a: { $choose: '{from}', from: { x: 'one' } }, b: '{to}' }, { b: '27825550101' }],
])('%s', (_, template, filled) => {
  expect(fillTemplate(template, values)).toEqual(filled)
}) // prettier-ignore

test('fields of a form are texts, and the missing ones are left out', () => {
  expect(fillFields({ a: '{parts}', b: '{from}', c: 'x' }, values)).toEqual([
    ['a', '2'],
    ['c', 'x'],
  ])
})
