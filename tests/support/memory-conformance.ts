import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Addresses, Configuration, Reply } from '@gateway/conformance'
import { createBackOffice } from '@gateway/core'
import { secondsAfter } from '@gateway/core/time'
import { anAccountId, until } from '@gateway/core/testing'
import { prepared, replyBy, replyServer } from './conformance.ts'
import { startMemoryGateway, type MemoryGateway } from './memory-gateway.ts'

const corsOrigin = 'https://app.example.com'

/** Gateway on memory ports that is prepared for the conformance suite. */
export interface MemoryConformance {
  /** Address of all three interfaces. */
  readonly url: URL
  /** Configuration with which every case can be tested. */
  readonly configuration: Configuration
  /** Makes a reply arrive, in this process. */
  readonly bringReply: (reply: Reply) => Promise<void>
  /** New folder for files of the tests. */
  readonly folder: string
  stop(): Promise<void>
}

export async function startMemoryConformance(): Promise<MemoryConformance> {
  const folder = await mkdtemp(join(tmpdir(), 'conformance-'))
  const gateway = await startMemoryGateway([corsOrigin])
  const replies = await replyServer(gateway.operate)
  const opened = await prepared(gateway.operate, gateway.smppPort)
  const keys = { ...opened.keys, expired: await expiredKey(gateway, opened.accounts.main.id) }
  return {
    url: gateway.url,
    configuration: { ...opened, keys, corsOrigin, replies: replies.configuration },
    bringReply: replyBy(gateway.operate),
    folder,
    stop: async () => {
      await replies.close()
      await gateway.stop()
      await rm(folder, { recursive: true })
    },
  }
}

export const addressesOf = (url: URL): Addresses => ({ rest: url, asp: url, xml: url })

/** Issues a key of this account, waits until it has expired, and returns it. */
async function expiredKey({ ports }: MemoryGateway, account: number): Promise<string> {
  const expires = secondsAfter(ports.clock.now(), 0.2)
  const issued = await createBackOffice(ports).commands.issueApiKey(anAccountId(account), { expires })
  if (typeof issued === 'string') throw new Error(issued)
  await until(() => ports.clock.now() >= expires)
  return issued.key
}
