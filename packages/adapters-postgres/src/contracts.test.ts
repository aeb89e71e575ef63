import { carrierShareContracts } from '@gateway/carrier-kit/testing'
import { promotedContract, storedPortContracts, type Contract } from '@gateway/core/contracts'
import type { DatabasePorts } from './stored-ports.ts'
import { sharedDatabase, type SharedDatabase } from '../testing/shared-database.ts'

const contracts: Readonly<Record<string, Contract<DatabasePorts>>> = {
  ...storedPortContracts,
  ...carrierShareContracts,
}

describe.each(Object.entries(contracts))('%s', (_, contract) => {
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
