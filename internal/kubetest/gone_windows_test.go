package kubetest_test

import "os"

func gone(process int) bool {
	_, err := os.FindProcess(process) // it opens the process
	return err != nil
}
