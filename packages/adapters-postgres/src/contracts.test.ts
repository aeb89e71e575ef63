import { storedPortContracts } from '@gateway/core/contracts'
import { sharedDatabase, type SharedDatabase } from '../testing/shared-database.ts'

describe.each(Object.entries(storedPortContracts))('%s', (_, contract) => {
  let database: SharedDatabase
  beforeAll(async () => (database = await sharedDatabase()))
  afterAll(() => database.close())

  test.each(Object.entries(contract))('%s', (_, check) => database.check(check))
})
