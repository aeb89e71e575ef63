import { setPriority } from 'node:os'
import type { Target } from './attack.ts'
import { attacks } from './attacks/index.ts'
import { answers } from './flood.ts'

// An attacker has a machine of its own: here it takes no processor time from what it attacks.
setPriority(10)

const [, , title, target = ''] = process.argv
const attack = attacks.find((one) => one.title === title)
if (attack === undefined) throw new Error(`there is no attack "${String(title)}"`)
attack.run(JSON.parse(target) as Target)
setInterval(() => process.stdout.write(`${JSON.stringify([...answers])}\n`), 200)
