import { readNumber, tonNpiOf, writeNumber } from './numbers.ts'
import { smppDefaults, type SmppSettings } from './settings.ts'

const number = '27825550101'
const national = { numbers: 'national', country: '27' } as const

test.each<[Partial<SmppSettings>, string, string]>([
  [{}, '27825550101', '1.1'],
  [{ numbers: 'plus' }, '+27825550101', '1.1'],
  [{ numbers: '00' }, '0027825550101', '1.1'],
  [national, '0825550101', '2.1'],
  [{ ...national, trunkPrefix: '' }, '825550101', '2.1'],
  [{ ...national, country: '44' }, '27825550101', '1.1'],
  [{ destination: { ton: 0, npi: 8 } }, '27825550101', '0.8'],
])('with %j a recipient is written as %s, with %s, and read as it was', (changes, written, tonNpi) => {
  const settings = { ...smppDefaults, ...changes }
  const { ton, npi } = tonNpiOf(number, settings, 'destination')
  expect([writeNumber(number, settings, 'destination'), `${ton}.${npi}`]).toEqual([written, tonNpi])
  expect(readNumber(written, ton, settings)).toBe(number)
})

test.each<[Partial<SmppSettings>, string, string, string]>([
  [{}, '12025550100', '12025550100', '1.1'],
  [{ numbers: 'plus' }, '12025550100', '+12025550100', '1.1'],
  [national, '27123456789', '0123456789', '2.1'],
  [national, '31022', '31022', '3.0'],
  [{ numbers: '00' }, '31022', '31022', '3.0'],
  [{ source: { ton: 5, npi: 0 } }, '31022', '31022', '5.0'],
  [{ source: { ton: 1, npi: 1 } }, 'Acme 24', 'Acme 24', '5.0'],
  [{ numbers: 'plus' }, 'Café', 'Café', '5.0'],
  [national, '24x7', '24x7', '5.0'],
])('with %j the sender address %s is written as %s, with %s, and read as it was', (changes, from, written, tonNpi) => {
  const settings = { ...smppDefaults, ...changes }
  const { ton, npi } = tonNpiOf(from, settings, 'source')
  expect([writeNumber(from, settings, 'source'), `${ton}.${npi}`]).toEqual([written, tonNpi])
  expect(readNumber(written, ton, settings)).toBe(from)
})
