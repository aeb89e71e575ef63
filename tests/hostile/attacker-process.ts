import { setPriority } from 'node:os'
import type { Target } from './attack.ts'
import { attacks } from './attacks/index.ts'
import { answers } from './flood.ts'

const [, , title, given = ''] = process.argv
const target = JSON.parse(given) as Target
// An attacker has a machine of its own: here it takes little processor time from what it attacks. Beside other tests it
// needs some.
setPriority(target.full ? 10 : 5)

const attack = attacks.find((one) => one.title === title)
if (attack === undefined) throw new Error(`there is no attack "${String(title)}"`)
attack.run(target)
setInterval(() => process.stdout.write(`${JSON.stringify([...answers])}\n`), 200)
