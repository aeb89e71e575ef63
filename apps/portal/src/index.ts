export { createPortalServer, portalRouter, type PortalServerSettings, type PortalSettings } from './router.tsx'
