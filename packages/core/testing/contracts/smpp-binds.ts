import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import type { BindId, BindMode, SmppCredential, SmppProcessId } from '@gateway/core/smpp-customers'
import { aPasswordHash } from '../builders.ts'
import { aBind, aCustomer, aProcess } from '../smpp.ts'
import { concurrentCallers, longAgo, type Contract } from './shared.ts'

const aReport = (id: BindId) => ({ id, strayTexts: 0, submissions: 0 })

async function opened(ports: StoredPorts, { id }: SmppCredential, process: SmppProcessId, mode?: BindMode) {
  const bind = aBind(process, mode)
  assert.equal(await ports.smppBinds.open(id, bind), 'opened')
  return bind
}

/** Contract of the port `SmppBinds`. The end of a silent process is tested by each adapter. */
export const smppBindsContract: Contract<StoredPorts> = {
  'a bind is listed with its figures for its account, until its process closes it or no longer reports it': async (
    ports,
  ) => {
    const { smppBinds } = ports
    const process = aProcess()
    const { account, credential } = await aCustomer(ports)
    const other = await aCustomer(ports)
    const bind = await opened(ports, credential, process)
    const foreign = await opened(ports, other.credential, process, 'receiver')
    const report = { id: bind.id, lastError: 'RINVDSTADR', strayTexts: 3, submissions: 5 }
    await smppBinds.report(process, [report, aReport(foreign.id)])
    const [shown, ...rest] = await smppBinds.list(account.id)
    assert.ok(shown !== undefined && shown.since > longAgo && rest.length === 0)
    const { since } = shown
    const about = { account: account.id, credential: credential.id, systemId: credential.systemId, since }
    assert.deepEqual(shown, { ...bind, ...report, ...about })
    assert.equal((await smppBinds.list(undefined)).length, 2)
    await smppBinds.close(aProcess(), [bind.id])
    assert.equal((await smppBinds.list(undefined)).length, 2)
    await smppBinds.close(process, [bind.id])
    assert.deepEqual(await smppBinds.list(account.id), [])
    await smppBinds.report(process, [])
    assert.deepEqual(await smppBinds.list(undefined), [])
  },

  'transmitting and receiving binds are counted apart over all processes, and a transceiver counts as both': async (
    ports,
  ) => {
    const { smppBinds } = ports
    const { credential } = await aCustomer(ports, {}, { binds: 2 })
    const processes = [aProcess(), aProcess()] as const
    for (const process of processes)
      for (const mode of ['transmitter', 'receiver'] as const) await opened(ports, credential, process, mode)
    for (const mode of ['transmitter', 'receiver', 'transceiver'] as const)
      assert.deepEqual(await smppBinds.open(credential.id, aBind(aProcess(), mode)), { busy: 4 })
    const [first] = await smppBinds.list(undefined)
    assert.ok(first?.mode === 'transmitter')
    await smppBinds.close(first.process, [first.id])
    assert.deepEqual(await smppBinds.open(credential.id, aBind(aProcess(), 'transceiver')), { busy: 3 })
    await opened(ports, credential, aProcess(), 'transmitter')
    assert.equal(await smppBinds.open(999_999 as typeof credential.id, aBind(aProcess())), 'no-such-credential')
  },

  'of 64 concurrent callers in several processes exactly the permitted number opens a bind': async (ports) => {
    const { credential } = await aCustomer(ports, {}, { binds: 5 })
    const processes = [aProcess(), aProcess(), aProcess()]
    const results = await Promise.all(
      Array.from({ length: concurrentCallers }, (_, i) =>
        ports.smppBinds.open(credential.id, aBind(processes[i % 3] ?? aProcess())),
      ),
    )
    assert.equal(results.filter((result) => result === 'opened').length, 5)
    assert.equal((await ports.smppBinds.list(undefined)).length, 5)
  },

  'if a client finds no free bind, all binds of the credential are probed once, each by its own process': async (
    ports,
  ) => {
    const { smppBinds } = ports
    const { credential } = await aCustomer(ports)
    const other = await aCustomer(ports)
    const [p, q] = [aProcess(), aProcess()]
    const [a, b] = [await opened(ports, credential, p), await opened(ports, credential, q)]
    const c = await opened(ports, other.credential, p)
    const probes = async () => [
      (await smppBinds.report(p, [aReport(a.id), aReport(c.id)])).probe,
      (await smppBinds.report(q, [aReport(b.id)])).probe,
    ]
    assert.deepEqual(await probes(), [[], []])
    assert.deepEqual(await smppBinds.open(credential.id, aBind(q)), { busy: 2 })
    assert.deepEqual(await probes(), [[a.id], [b.id]])
    assert.deepEqual(await probes(), [[], []])
  },

  'binds of a removed or rotated credential, and unknown ones, are to be closed': async (ports) => {
    const { smppBinds, smppCredentials } = ports
    const process = aProcess()
    const customers = [await aCustomer(ports), await aCustomer(ports), await aCustomer(ports)] as const
    const binds: BindId[] = []
    for (const { credential } of customers) binds.push((await opened(ports, credential, process)).id)
    const reported = [...binds, aBind(process).id]
    await smppCredentials.remove(undefined, customers[0].credential.id)
    await smppCredentials.rotate(undefined, customers[1].credential.id, aPasswordHash('next'), longAgo)
    const { close } = await smppBinds.report(process, reported.map(aReport))
    assert.deepEqual(new Set(close), new Set([...binds.slice(0, 2), ...reported.slice(3)]))
    assert.deepEqual(
      (await smppBinds.list(undefined)).map(({ id }) => id),
      binds.slice(2),
    )
  },

  'each process may use the share of a rate that its transmitting binds have': async (ports) => {
    const { credential } = await aCustomer(ports, {}, { binds: 4, perSecond: 40 })
    const [p, q] = [aProcess(), aProcess()]
    const ofP = [await opened(ports, credential, p), await opened(ports, credential, p, 'transmitter')]
    const ratesOf = async (process: SmppProcessId, binds: readonly { readonly id: BindId }[]) =>
      (
        await ports.smppBinds.report(
          process,
          binds.map(({ id }) => aReport(id)),
        )
      ).rates
    assert.deepEqual(await ratesOf(p, ofP), [{ credential: credential.id, perSecond: 40 }])
    const ofQ = [await opened(ports, credential, q), await opened(ports, credential, q, 'receiver')]
    await opened(ports, credential, q)
    assert.deepEqual(await ratesOf(p, ofP), [{ credential: credential.id, perSecond: 20 }])
    assert.deepEqual(await ratesOf(q, ofQ), [{ credential: credential.id, perSecond: 40 / 3 }])
    assert.deepEqual(await ratesOf(aProcess(), []), [])
  },
}
