// How the client is bundled: into the server's package, so that one wheel brings both.
import { defineConfig } from 'vite';

export default defineConfig({
  base: '/',
  build: {
    outDir: '../server/heartroom/web/static',
    emptyOutDir: true,
    target: 'es2022',
    // The content security policy allows scripts and styles from files only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: {
      '/api': 'http://127.0.0.1:8000',
      '/ws': { target: 'ws://127.0.0.1:8000', ws: true },
    },
  },
});
