import type { Page } from '../../page.ts'
import { template, templates } from './templates.tsx'

export const templatesPages: readonly Page[] = [templates, template]
