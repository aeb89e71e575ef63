import {
  carrierContract,
  commitsContract,
  secretsContract,
  storedPortContracts,
  type Contract,
  type HeldPorts,
} from '@gateway/core/contracts'
import { memoryPorts, memorySecrets, scriptedCarrier } from '@gateway/core/testing'

const run = <Subject>(port: string, contract: Contract<Subject>, subject: () => Subject) =>
  describe(`${port} in memory`, () => {
    for (const [promise, check] of Object.entries(contract)) test(promise, () => check(subject()))
  })

/** Steps of a memory are one with their commits: here they wait before they are taken. */
function heldMemory(): HeldPorts {
  const ports = memoryPorts()
  let free = Promise.resolve()
  const { messages, ledger } = ports
  return {
    ports: {
      ...ports,
      messages: {
        ...messages,
        accept: (...asked) => free.then(() => messages.accept(...asked)),
        acceptOnce: (...asked) => free.then(() => messages.acceptOnce(...asked)),
        deleteScheduled: (...asked) => free.then(() => messages.deleteScheduled(...asked)),
      },
      ledger: { ...ledger, transfer: (...asked) => free.then(() => ledger.transfer(...asked)) },
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

run('commits', commitsContract, heldMemory)
for (const [port, contract] of Object.entries(storedPortContracts)) run(port, contract, memoryPorts)
run('secrets', secretsContract, memorySecrets)
run('carrier', carrierContract, scriptedCarrier)
