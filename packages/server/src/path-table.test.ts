import { pathTable } from './path-table.ts'

const paths = ['/things', '/things/{id}', '/things/{id}/parts', '/Other']
const table = new Map(paths.map((path) => [path, path]))
const find = pathTable(table, { caseSensitive: true, lastSlashIgnored: true })

test.each<[string, string, string | undefined]>([
  ['/things', '/things', undefined],
  ['/things/', '/things', undefined],
  ['/things/7', '/things/{id}', '7'],
  ['/things/7/', '/things/{id}', '7'],
  ['/things/9007199254740993', '/things/{id}', '9007199254740993'],
  ['/things/10/parts', '/things/{id}/parts', '10'],
  ['/Other', '/Other', undefined],
])('%s is %s', (path, endpoint, parameter) => {
  expect(find(path)).toEqual({ endpoint, path: endpoint, parameter })
})

test.each([
  '/things/{id}',
  '/things/%7Bid%7D',
  '/things/0',
  '/things/07',
  '/things/+7',
  '/things/-7',
  '/things/7.0',
  '/things/7e1',
  '/things/%37',
  '/things/seven',
  '/things/٧',
  '/things/12345678901234567',
  '/things/7//',
  '/things//7',
  '/things/7/8',
  '/things/7/parts/8',
  '/7/things',
  '/Things/7',
  '/things/7/Parts',
  '/other',
  '/__proto__',
  '',
  '/',
])('%s is none of them', (path) => {
  expect(find(path)).toBeUndefined()
})

test('letter case and the last slash count as they are said to', () => {
  const other = pathTable(table, { caseSensitive: false })
  expect(other('/THINGS/7/parts')).toEqual({
    endpoint: '/things/{id}/parts',
    path: '/things/{id}/parts',
    parameter: '7',
  })
  expect(other('/other')?.endpoint).toBe('/Other')
  expect(other('/things/')).toBeUndefined()
  expect(other('/things/7/')).toBeUndefined()
})
