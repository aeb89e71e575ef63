import type { Page } from '../../page.ts'
import { optOuts } from './opt-outs.tsx'

export const optOutsPages: readonly Page[] = [optOuts]
