import { promotedContract, storedPortContracts } from '@gateway/core/contracts'
import { sharedDatabase, type SharedDatabase } from '../testing/shared-database.ts'

describe.each(Object.entries(storedPortContracts))('%s', (_, contract) => {
  let database: SharedDatabase
  beforeAll(async () => (database = await sharedDatabase()))
  afterAll(() => database.close())

  test.each(Object.entries(contract))('%s', (_, check) => database.check(check))
})

describe('promotions of a standby', () => {
  let database: SharedDatabase
  beforeAll(async () => (database = await sharedDatabase()))
  afterAll(() => database.close())

  test.each(Object.entries(promotedContract))('%s', (_, check) =>
    database.check((ports) => check({ ports, promote: () => database.promote() })),
  )
})
