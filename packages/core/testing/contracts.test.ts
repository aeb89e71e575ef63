import {
  carrierContract,
  commitsContract,
  promotedContract,
  secretsContract,
  storedPortContracts,
  type Contract,
  type HeldPorts,
  type PromotablePorts,
} from '@gateway/core/contracts'
import {
  memoryPorts,
  memorySecrets,
  memoryStore,
  memoryStoredPorts,
  promoteStandby,
  scriptedCarrier,
  steppingClock,
} from '@gateway/core/testing'

const run = <Subject>(port: string, contract: Contract<Subject>, subject: () => Subject) =>
  describe(`${port} in memory`, () => {
    for (const [promise, check] of Object.entries(contract)) test(promise, () => check(subject()))
  })

/**
 * Returns memory ports whose commits can be delayed. In the memory store each call is one step that commits itself, so
 * the whole call is delayed.
 */
function heldMemory(): HeldPorts {
  const ports = memoryPorts()
  let free = Promise.resolve()
  const { messages, ledger } = ports
  return {
    ports: {
      ...ports,
      messages: {
        ...messages,
        accept: (...args) => free.then(() => messages.accept(...args)),
        acceptOnce: (...args) => free.then(() => messages.acceptOnce(...args)),
        deleteScheduled: (...args) => free.then(() => messages.deleteScheduled(...args)),
      },
      ledger: { ...ledger, transfer: (...args) => free.then(() => ledger.transfer(...args)) },
    },
    holdCommits: () => {
      let release: () => void = () => undefined
      free = new Promise((resolve) => (release = resolve))
      return Promise.resolve(() => {
        release()
        return free
      })
    },
  }
}

function promotableMemory(): PromotablePorts {
  const clock = steppingClock()
  const store = memoryStore(clock)
  const promote = (): Promise<void> => {
    clock.step(1)
    promoteStandby(store)
    clock.step(1)
    return Promise.resolve()
  }
  return { ports: memoryStoredPorts(store), promote }
}

run('commits', commitsContract, heldMemory)
for (const [port, contract] of Object.entries(storedPortContracts)) run(port, contract, memoryPorts)
run('promotions of a standby', promotedContract, promotableMemory)
run('secrets', secretsContract, memorySecrets)
run('carrier', carrierContract, scriptedCarrier)
